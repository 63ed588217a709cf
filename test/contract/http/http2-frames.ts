/** Types of frames (RFC 9113 section 6). */
export const TYPE = {
  data: 0,
  headers: 1,
  priority: 2,
  reset: 3,
  settings: 4,
  push: 5,
  ping: 6,
  goaway: 7,
  window: 8,
  continuation: 9,
} as const;

export const END_STREAM = 1;
export const END_HEADERS = 4;

/** A frame, whether it is valid or not. */
export function frame(type: number, flags: number, streamId: number, payload: Buffer | string = ''): Buffer {
  const bytes = Buffer.from(payload);
  const head = Buffer.alloc(9);
  head.writeUIntBE(bytes.length, 0, 3);
  head[3] = type;
  head[4] = flags;
  head.writeUInt32BE(streamId, 5);
  return Buffer.concat([head, bytes]);
}

/** The fields of a request, each as a literal without indexing (RFC 7541 section 6.2.2), of at most 126 bytes. */
export function fieldBlock(path: string, fields: readonly (readonly [string, string])[] = []): Buffer {
  const all = [[':method', 'POST'], [':path', path], [':scheme', 'http'], [':authority', 'x'], ...fields] as const;
  return Buffer.concat(all.flatMap(([name, value]) => [Buffer.from([0]), literal(name), literal(value)]));
}

function literal(text: string): Buffer {
  return Buffer.from(`${String.fromCharCode(Buffer.byteLength(text))}${text}`);
}

/** A whole number of four bytes. */
export function uint32(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32BE(value);
  return bytes;
}

/** One setting: its identifier and its value. */
export function setting(id: number, value: number): Buffer {
  return Buffer.concat([Buffer.from([0, id]), uint32(value)]);
}

/** What a client sends first (RFC 9113 section 3.4). */
export function preface(settings: Buffer = Buffer.alloc(0)): Buffer {
  return Buffer.concat([Buffer.from('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'), frame(TYPE.settings, 0, 0, settings)]);
}
