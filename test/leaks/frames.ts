/** What a client of HTTP/2 sends first, with empty settings. */
export const PREFACE: Buffer = Buffer.concat([Buffer.from('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'), frame(4, 0, 0)]);

const HEADERS = 1;
const END_STREAM_AND_HEADERS = 5;

/** A frame of HTTP/2 (RFC 9113, section 4.1). */
export function frame(type: number, flags: number, stream: number, payload: Buffer = Buffer.alloc(0)): Buffer {
  const head = Buffer.alloc(9);
  head.writeUIntBE(payload.length, 0, 3);
  head[3] = type;
  head[4] = flags;
  head.writeUInt32BE(stream, 5);
  return Buffer.concat([head, payload]);
}

/** A request without a body. Names and values have less than 127 bytes. */
export function requestFrames(stream: number, fields: Readonly<Record<string, string>>): Buffer {
  // Each as a literal without indexing (RFC 7541, section 6.2.2).
  const literals = Object.entries(fields).flatMap(([name, value]) => [
    Buffer.from([0, name.length]),
    Buffer.from(name),
    Buffer.from([value.length]),
    Buffer.from(value),
  ]);
  return frame(HEADERS, END_STREAM_AND_HEADERS, stream, Buffer.concat(literals));
}
