/** A store without traits: it keeps neither calendar periods nor slots. */
export class OldStore {
  run = () => ({ nowTicks: 0, levelsTicks: [0] });
  close = () => undefined;
}
