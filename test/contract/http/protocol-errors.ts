import { END_HEADERS, END_STREAM, fieldBlock, frame, setting, TYPE, uint32 } from './http2-frames.ts';

const { data, headers, priority, reset, settings, push, ping, goaway, window, continuation } = TYPE;
const WHOLE = END_STREAM | END_HEADERS;
const PADDED = 8;
const ACK = 1;
const fields = fieldBlock('/none');
const opaque = Buffer.alloc(8);
const largest = 2 ** 31 - 1;

/**
 * Errors of a client of HTTP/2, as the bytes that it sends after the fields of stream 1, which it has not ended. After each
 * the server ends the connection, or the stream (RFC 9113 section 5.4).
 */
export const PROTOCOL_ERRORS: Readonly<Record<string, Buffer>> = {
  'DATA on stream 0': frame(data, 0, 0, 'z'),
  'DATA after END_STREAM': Buffer.concat([frame(data, END_STREAM, 1), frame(data, 0, 1, 'z')]),
  'DATA of an idle stream': frame(data, 0, 99, 'z'),
  'DATA with more padding than bytes': frame(data, PADDED, 1, Buffer.from([200, 1])),
  'a frame of 100 kB': frame(data, 0, 1, Buffer.alloc(100_000)),
  'HEADERS on stream 0': frame(headers, WHOLE, 0, fields),
  'HEADERS after END_STREAM': Buffer.concat([frame(data, END_STREAM, 1), frame(headers, WHOLE, 1, fields)]),
  'HEADERS of an even stream': frame(headers, WHOLE, 2, fields),
  'HEADERS with more padding than bytes': frame(headers, WHOLE | PADDED, 3, Buffer.from([200, 1])),
  'HEADERS without their end': Buffer.concat([frame(headers, END_STREAM, 3, fields), frame(ping, 0, 0, opaque)]),
  'HEADERS that do not end the request': frame(headers, END_HEADERS, 1, fields),
  'CONTINUATION alone': frame(continuation, END_HEADERS, 1, fields),
  'CONTINUATION of another stream': Buffer.concat([
    frame(headers, END_STREAM, 3, fields),
    frame(continuation, END_HEADERS, 5, fields),
  ]),
  'an index of HPACK that does not exist': frame(headers, WHOLE, 3, Buffer.from([0xff, 0xff, 0xff, 0x7f])),
  'a table of HPACK that is too large': frame(headers, WHOLE, 3, Buffer.from([0x3f, 0xe1, 0xff, 0x7f, 0x88])),
  'a text of HPACK that is cut off': frame(headers, WHOLE, 3, Buffer.from([0, 100, 97])),
  'PRIORITY of 4 bytes': frame(priority, 0, 1, Buffer.alloc(4)),
  'RST_STREAM on stream 0': frame(reset, 0, 0, uint32(8)),
  'RST_STREAM of 3 bytes': frame(reset, 0, 1, Buffer.alloc(3)),
  'RST_STREAM of an idle stream': frame(reset, 0, 99, uint32(8)),
  'SETTINGS on a stream': frame(settings, 0, 1),
  'SETTINGS of 5 bytes': frame(settings, 0, 0, Buffer.alloc(5)),
  'SETTINGS that are an answer with bytes': frame(settings, ACK, 0, setting(4, 1)),
  'SETTINGS with a switch of 2': frame(settings, 0, 0, setting(2, 2)),
  'SETTINGS with too large a window': frame(settings, 0, 0, setting(4, 2 ** 31)),
  'SETTINGS with too small a frame': frame(settings, 0, 0, setting(5, 1)),
  'PUSH_PROMISE of a client': frame(push, END_HEADERS, 1, Buffer.concat([uint32(2), fields])),
  'a PING of 3 bytes': frame(ping, 0, 0, Buffer.alloc(3)),
  'a PING on a stream': frame(ping, 0, 1, opaque),
  'GOAWAY on a stream': frame(goaway, 0, 1, opaque),
  'GOAWAY of 7 bytes': frame(goaway, 0, 0, Buffer.alloc(7)),
  'WINDOW_UPDATE of 0 for all': frame(window, 0, 0, uint32(0)),
  'WINDOW_UPDATE of 0 for a stream': frame(window, 0, 1, uint32(0)),
  'WINDOW_UPDATE beyond the largest for all': frame(window, 0, 0, uint32(largest)),
  'WINDOW_UPDATE beyond the largest for a stream': Buffer.concat([
    frame(window, 0, 1, uint32(largest)),
    frame(window, 0, 1, uint32(largest)),
  ]),
  'WINDOW_UPDATE of 3 bytes': frame(window, 0, 0, Buffer.alloc(3)),
  'WINDOW_UPDATE of an idle stream': frame(window, 0, 99, uint32(1)),
  'a request of HTTP/1.1': Buffer.from('GET / HTTP/1.1\r\nHost: x\r\n\r\n'),
};

/** All codes of errors (RFC 9113 section 7). */
export const CODES: readonly number[] = Array.from({ length: 14 }, (_, code) => code);

/** Errors of the server that a client reports: GOAWAY with each code but NO_ERROR. */
export const REPORTED_ERRORS: Readonly<Record<string, Buffer>> = Object.fromEntries(
  CODES.slice(1).map((code) => [
    `GOAWAY with code ${code}`,
    frame(goaway, 0, 0, Buffer.concat([uint32(0), uint32(code)])),
  ]),
);
