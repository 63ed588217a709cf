// Sends requests to the limited Worker, each of which is a request context of its own, while its service answers or hangs.
const PATHS = ['/rate', '/quota', '/slots', '/own-slots', '/overrides', '/settled'];
const LATE_MS = 3000;
const sleep = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

export default {
  async test(_controller, { limited, service }) {
    const problems = [];
    const expect = async (what, answer, wanted) => {
      const got = await answer;
      if (got !== wanted) problems.push(`${what}: ${got} in place of ${wanted}`);
    };
    const ask = async (path, signal = null) => {
      const late = sleep(LATE_MS).then(() => 'no answer');
      const answered = limited.fetch(`http://limited${path}`, { signal }).then(
        async (response) => `${response.status} ${await response.text()}`,
        (error) => `failed: ${error.message}`,
      );
      return Promise.race([answered, late]);
    };
    const allPass = async (when) => {
      for (const path of PATHS) await expect(`${path} ${when}`, ask(path), '200 hello');
    };
    const leave = async (path) => {
      const leaving = new AbortController();
      const answer = ask(path, leaving.signal);
      await sleep(10);
      leaving.abort();
      await answer;
    };
    const tellService = (mode) => service.fetch(`http://service/${mode}`);

    await allPass('while the service answers');
    await expect('a queue', ask('/queued'), '500 ERR_RUNTIME');
    for (let i = 0; i < 3; i++) {
      await expect('a slot after another', ask('/one-slot'), '200 hello');
      await expect('a slot of Hono after another', ask('/hono-slots'), '200 hello');
      // The release is sent after the response, and the service has to answer it.
      await sleep(20);
    }
    const open = (path) => limited.fetch(`http://limited${path}`, { headers: { upgrade: 'websocket' } });
    const statusOf = (path) => open(path).then(({ status }) => status);
    await expect('a socket whose end is not seen', (await open('/socket')).text(), 'ERR_RUNTIME');
    const { webSocket } = await open('/held-socket');
    webSocket.accept();
    // For longer than the expiry: the request of the socket renews its slot.
    await sleep(1500);
    await expect('a socket beside another', statusOf('/held-socket'), 429);
    webSocket.close();
    await sleep(50);
    await expect('a socket after another', statusOf('/held-socket'), 101);
    await expect('ready', ask('/ready'), '200 ready');
    for (let outage = 1; outage <= 2; outage++) {
      await tellService('hang');
      await Promise.all(PATHS.map(leave));
      for (let i = 0; i < 3; i++) await allPass(`in outage ${outage}`);
      await Promise.all(PATHS.flatMap((path) => [leave(path), leave(path)]));
      // Requests whose clients have left are decided at their deadline, and release their slots then.
      await sleep(100);
      await Promise.all(
        PATHS.flatMap((path) => [ask(path), ask(path)]).map((answer) => expect('at once', answer, '200 hello')),
      );
      await expect('not ready', ask('/ready'), '200 ERR_STORE_UNAVAILABLE');
      for (let i = 0; i < 4; i++)
        await expect(
          'closed',
          ask('/closed').then((text) => text.slice(0, 3)),
          '503',
        );
      await tellService('answer');
      // One request is a probe, after the interval between two of them.
      await sleep(150);
      await allPass('after the outage');
      await expect(
        'decides again',
        ask('/closed').then((text) => text.slice(0, 3)),
        '200',
      );
    }
    if (problems.length > 0) throw new Error(problems.join('\n'));
  },
};
