// The process of one run: `node measure.mjs <part file> <run as JSON>`, started by processes.mjs.
const [partFile = '', run = ''] = process.argv.slice(2);
const { part } = /** @type {{ part: import('./part.ts').Part }} */ (await import(partFile));
const figures = await part.measure(JSON.parse(run));
// Without a parent it is being looked at by hand, or profiled.
if (process.send === undefined) console.log(figures);
else process.send(figures, () => process.exit());
