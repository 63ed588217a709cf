/** What `sluice simulate` loads when it runs. */
export { MODELS } from './algorithms/models.ts';
export { simulationLines } from './counting/report-lines.ts';
export { simulationPage } from './drawing/page.ts';
export { simulationPicture } from './drawing/picture.ts';
export { readScenario } from './scenario/read-scenario.ts';
export { simulate } from './simulate.ts';
