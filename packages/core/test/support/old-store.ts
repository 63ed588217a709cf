/** A store without traits: it keeps neither calendar periods nor slots. */
export class OldStore {
  spend = () => ({ nowTicks: 0, levelsTicks: [0] });
  check = this.spend;
  charge = this.spend;
  refund = this.spend;
  reset = () => undefined;
  close = () => undefined;
}
