/** Thrown if a proxy does not send what its table needs. */
export class MisconfiguredProxy extends Error {}
