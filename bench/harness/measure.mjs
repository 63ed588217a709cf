// The process of one run: `node measure.mjs <part file> <run as JSON>`, started by processes.mjs. Tells when it is ready,
// and the figures of a turn whenever it is asked for one. It ends with whoever started it.
const [partFile = '', run = ''] = process.argv.slice(2);
process.on('disconnect', () => process.exit());
const { part } = /** @type {{ part: import('./part.ts').Part }} */ (await import(partFile));
const measure = await part.prepare(JSON.parse(run));
if (process.send === undefined) await measureByHand();
else {
  process.on('message', async (asked) => {
    if (asked === 'end') process.exit();
    process.send?.(await measure());
  });
  process.send('ready');
}

// Without a parent it is being looked at, or profiled.
async function measureByHand() {
  // oxlint-disable-next-line no-await-in-loop
  for (let turns = part.turns({ quick: false }); turns > 0; turns--) console.log(await measure());
  process.exit();
}
