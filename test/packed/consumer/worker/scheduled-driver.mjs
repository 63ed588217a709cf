// Requests that wait for their turns in one object, of which some leave.
export default {
  async test(_controller, { scheduled }) {
    const ask = async (path, signal = null) => {
      const answer = await scheduled.fetch(`http://scheduled${path}`, { signal });
      return answer.text();
    };
    const expect = (what, got, wanted) => {
      if (got !== wanted) throw new Error(`${what}: ${got} in place of ${wanted}`);
    };
    expect('outside of an object', await ask('/module'), 'ERR_RUNTIME');
    const fromMs = Date.now();
    const [leaving, staying] = [new AbortController(), new AbortController()];
    const calls = Array.from({ length: 9 }, (_, i) => ask('/call', (i % 2 === 0 ? staying : leaving).signal));
    while ((await ask('/left')) !== '[8,0]') await new Promise((resolve) => setTimeout(resolve, 1));
    leaving.abort();
    const ends = await Promise.allSettled(calls);
    const lastedMs = Date.now() - fromMs;
    expect('answers', ends.map(({ value = 'left' }) => value).join(), 'ok,left,ok,left,ok,left,ok,left,ok');
    // Four turns of 100 ms, and at most one that was reserved for a request that left.
    if (lastedMs < 390) throw new Error(`Five calls took ${lastedMs} ms.`);
    expect('what is left', await ask('/left'), '[0,0]');
  },
};
