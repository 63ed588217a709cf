/** A store without traits: it keeps neither calendar periods nor slots. */
export class OldStore {
  run = () => ({ passed: 0, nowTicks: 0, levelsTicks: [0] });
  close = () => undefined;
}
