// `node --import ./shifted-clock.mjs?ms=3600000 program` runs a program on a machine whose wall clock is an hour ahead;
// with `&afterMs=500` it jumps ahead half a second after the first message of the parent.
const { searchParams } = new URL(import.meta.url);
const shiftMs = Number(searchParams.get('ms'));
const afterMs = searchParams.get('afterMs');
let shiftsAtMs = afterMs === null ? 0 : Infinity;
process.once('message', () => (shiftsAtMs = performance.now() + Number(afterMs)));

const RealDate = Date;
const nowMs = () => RealDate.now() + (performance.now() >= shiftsAtMs ? shiftMs : 0);

globalThis.Date = new Proxy(RealDate, {
  construct: (_target, args) => (args.length === 0 ? new RealDate(nowMs()) : Reflect.construct(RealDate, args)),
  get: (target, name) => (name === 'now' ? nowMs : Reflect.get(target, name)),
});
Object.defineProperty(performance, 'timeOrigin', { value: performance.timeOrigin + shiftMs });
