export const SLUICE = 'Sluice';
/** A server of `node:http2` that reads nothing and answers the same bytes. */
export const FIXED_FRAME = 'a fixed frame';
export const GRPC_JS = 'grpc-js';

export const CONTENDERS = [FIXED_FRAME, SLUICE, GRPC_JS];
