// Prints what one request does on each of the paths that are pinned: in memory, or on the Redis of the argument.
import { Counter, type Counted } from './counted.ts';

const counter = await Counter.make();
const { pathsInMemory, pathsOnRedis } = await import('./paths.ts');
const [redisUrl] = process.argv.slice(2);
const { paths, close } = await (redisUrl === undefined ? pathsInMemory() : pathsOnRedis(redisUrl));
const figures: Record<string, Counted> = {};
// oxlint-disable-next-line no-await-in-loop -- one after the other
for (const [path, begin] of Object.entries(paths)) figures[path] = await counter.countedIn(begin);
await close();
console.log(JSON.stringify(figures));
