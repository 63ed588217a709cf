/** The bytes of a frame of Sluice without its decisions. */
export const HEADER_BYTES = 8;

/** The bytes by which Sluice asks for one decision of the limit of the decision before, for an id of 8 characters. */
export const BATCH_BYTES = 80;

/** The bytes of its answer. */
export const BATCH_ANSWER_BYTES = 32;
