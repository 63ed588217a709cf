// Sends each store of the Worker the same requests and messages, and compares the outcomes.
const USAGES = ['plain', 'failed', 'successful'];
const STATUSES = [500, 500, 500, 200, 200, 200, 200, 500, 500, 500];

export default {
  async test(_controller, { limited }) {
    const statuses = async (store, usage) => {
      const all = [];
      for (const status of STATUSES)
        all.push((await limited.fetch(`http://limited/${store}/${usage}/${status}`)).status);
      return all.join();
    };
    const messages = async (store, usage) => {
      const headers = { Upgrade: 'websocket' };
      const { webSocket } = await limited.fetch(`http://limited/${store}/socket/${usage}`, { headers });
      const all = [];
      webSocket.accept();
      for (const data of ['a', 'b', 'c', 'd']) {
        const answered = new Promise((resolve) => {
          webSocket.addEventListener('message', (event) => resolve(event.data), { once: true });
          webSocket.addEventListener('close', ({ code }) => resolve(code), { once: true });
          setTimeout(() => resolve(0), 5000);
        });
        webSocket.send(data);
        all.push(await answered);
        if (typeof all.at(-1) === 'number') break;
      }
      webSocket.close();
      return all.join();
    };
    const results = {};
    for (const store of ['own', 'memory', 'service'])
      results[store] = await Promise.all(
        USAGES.map(async (usage) => `${usage}: ${await statuses(store, usage)} ${await messages(store, usage)}`),
      );
    const wanted = results.own.join('\n');
    for (const [store, all] of Object.entries(results))
      if (all.join('\n') !== wanted || !wanted.includes('429'))
        throw new Error(`${store}:\n${all.join('\n')}\nown:\n${wanted}`);
  },
};
