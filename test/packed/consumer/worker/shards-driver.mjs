// Sends the requests of clients to two instances of a Worker, which share the buckets of Durable Objects.
const sleep = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

export default {
  async test(_controller, { one, other }) {
    const statusOf = async (instance, client) => {
      const response = await instance.fetch('http://limited/', { headers: { 'cf-connecting-ip': client } });
      return `${response.status} ${response.headers.get('RateLimit') === null ? 'by a policy' : 'by the store'}`;
    };
    const flood = (client) =>
      Promise.all(Array.from({ length: 60 }, (_, i) => statusOf(i % 2 === 0 ? one : other, client)));
    const count = (statuses, wanted) => statuses.filter((status) => status === wanted).length;
    const problems = [];
    const expect = (what, isRight, got) => {
      if (!isRight) problems.push(`${what}: ${got}`);
    };
    for (const client of ['203.0.113.7', '2001:db8::7']) {
      const startMs = Date.now();
      const statuses = await flood(client);
      const passed = count(statuses, '200 by the store');
      // Some tokens may come back during the flood.
      const most = 20 + Math.ceil((5 * (Date.now() - startMs)) / 1000);
      expect('a burst of 20 in both instances', passed >= 20 && passed <= most, `${passed} passed, ${statuses.join()}`);
      expect('all decided by the store', passed + count(statuses, '429 by the store') === 60, statuses.join());
    }
    const left = async (client) => {
      const response = await one.fetch('http://limited/', { headers: { 'cf-connecting-ip': client } });
      return Number(/"Daily";r=(\d+)/.exec(response.headers.get('RateLimit'))?.[1]);
    };
    await sleep(2500);
    const before = await left('203.0.113.7');
    await one.fetch('http://limited/end');
    const after = await left('203.0.113.7');
    expect(
      'buckets after the end of an object',
      before < 981 && after <= before && after >= before - 2,
      `${before}, ${after}`,
    );
    const twoIds = await (await one.fetch('http://limited/two-ids?a=203.0.113.7&b=203.0.113.8')).text();
    expect('two ids in one decision', twoIds === 'ERR_OPTION', twoIds);
    if (problems.length > 0) throw new Error(problems.join('\n'));
  },
};
