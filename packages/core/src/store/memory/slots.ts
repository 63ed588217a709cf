import { provided, type SlotTable } from '../provided.ts';

/** The slots of a memory store. Their table is made when the first ones are held, so that other programs load none of it. */
export class Slots {
  /** Undefined while no slot has been held. Only this class changes it. */
  table: SlotTable | undefined;

  /** Returns the table, and makes it if there is none. */
  made(): SlotTable {
    return (this.table ??= provided('slotTable')());
  }
}
