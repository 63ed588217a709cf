import { ServerResponse, IncomingMessage } from 'node:http';
import { expect, test } from 'vitest';
import { NodeExchange } from '../../src/http/node-exchange.ts';

class PlainExchange extends NodeExchange<object> {
  decision = undefined;
}

/** An exchange whose request has this for a socket, and these header fields. */
function exchangeOf(socket: object | null | undefined, headers: object = {}): PlainExchange {
  const incoming = new IncomingMessage(socket as never);
  Object.assign(incoming, { headers });
  return new PlainExchange({}, incoming, new ServerResponse(incoming));
}

test('a header field is returned as text; a field that is not text is ignored', () => {
  const exchange = exchangeOf({}, { 'x-forwarded-for': '203.0.113.7', 'set-cookie': ['a=b'] });
  expect(exchange.header('x-forwarded-for')).toBe('203.0.113.7');
  expect(exchange.header('set-cookie')).toBeUndefined();
  expect(exchange.header('forwarded')).toBeUndefined();
});

test.each([null, undefined])('a request whose socket is %o has no peer and no server', (socket) => {
  const exchange = exchangeOf(socket);
  expect(exchange.peer).toBeUndefined();
  expect(exchange.server).toBeUndefined();
});

test.each([
  [{ server: 'name' }, undefined],
  [{ server: null }, undefined],
  [{}, undefined],
])('a socket %o has no server', (socket, server) => {
  expect(exchangeOf(socket).server).toBe(server);
});

test('a peer stays known when its connection is over; one that was never read has left', () => {
  const read = { remoteAddress: '203.0.113.7' };
  const unread = { ...read };
  expect(exchangeOf(read).peer).toMatchObject({ text: '203.0.113.7' });
  for (const socket of [read, unread]) Object.assign(socket, { remoteAddress: undefined, destroyed: true });
  expect(exchangeOf(read).peer).toMatchObject({ text: '203.0.113.7' });
  expect(exchangeOf(unread).peer).toBe('left');
});

test('a field that is set after the head was sent is dropped; another error is thrown', () => {
  const exchange = exchangeOf({});
  expect(() => exchange.setField('X-Bad', 'line\nbreak')).toThrow(/Invalid character/);
  exchange.outgoing.writeHead(200);
  expect(() => exchange.setField('X-Late', '1')).not.toThrow();
});
