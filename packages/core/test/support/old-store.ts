import { storeGuard } from '@sluice/core/store';

/** A store without traits: it keeps neither calendar periods nor slots. */
export class OldStore {
  guard = storeGuard;
  run = () => ({ passed: 0, nowTicks: 0, levelsTicks: [0] });
  close = () => undefined;
}
