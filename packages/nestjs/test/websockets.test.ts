import { Module, UseGuards, type INestApplication, type Type, type WebSocketAdapter } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { ExpressAdapter } from '@nestjs/platform-express';
import { WsAdapter } from '@nestjs/platform-ws';
import { SubscribeMessage, WebSocketGateway, WsException } from '@nestjs/websockets';
import { clientNetwork, everyone } from '@sluice/core';
import { concurrency } from '@sluice/core/concurrency';
import { Limits, RateLimitGuard, RateLimitModule, Unlimited, webSocketContext } from '@sluice/nestjs';
import { once } from 'node:events';
import { get } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Duplex } from 'node:stream';
import { io, type Socket } from 'socket.io-client';
import { expect, onTestFinished, test } from 'vitest';
import { stillStore } from './app.ts';

@UseGuards(RateLimitGuard)
@WebSocketGateway()
class ChatGateway {
  @SubscribeMessage('say')
  say(_client: unknown, text: string): string {
    return `said ${text}`;
  }

  @Limits({ limit: 'PerClient', cost: 3 })
  @SubscribeMessage('shout')
  shout(): string {
    return 'shouted';
  }

  @Unlimited()
  @SubscribeMessage('free')
  free(): string {
    return 'free';
  }

  @Limits('InFlight')
  @SubscribeMessage('work')
  work(): string {
    return 'worked';
  }
}

/** Serves an application with the gateway, and returns its port. */
async function served(adapter?: (app: INestApplication) => WebSocketAdapter): Promise<number> {
  class AppModule {}
  Module({
    imports: [
      RateLimitModule.forRoot({
        limiter: {
          limits: {
            PerClient: { key: clientNetwork(), count: 4, period: '1m' },
            InFlight: concurrency({ key: everyone(), concurrency: 1 }),
          },
          trustedProxies: ['loopback'],
          ...stillStore(),
        },
        limits: ['PerClient'],
        contexts: { ws: webSocketContext(WsException) },
      }),
    ],
    providers: [ChatGateway],
  })(AppModule);
  const app = await NestFactory.create(AppModule as Type, new ExpressAdapter(), { logger: false });
  onTestFinished(() => app.close());
  if (adapter !== undefined) app.useWebSocketAdapter(adapter(app));
  await app.listen(0, '127.0.0.1');
  return (app.getHttpServer().address() as AddressInfo).port;
}

/** Serves an application with the gateway, and returns what connects a client to it. */
async function gateway(): Promise<(headers?: Record<string, string>) => Socket> {
  const port = await served();
  return (headers) => client(port, headers);
}

function client(port: number, extraHeaders: Record<string, string> = {}): Socket {
  const socket = io(`http://127.0.0.1:${port}`, { transports: ['websocket'], extraHeaders, forceNew: true });
  onTestFinished(() => void socket.disconnect());
  return socket;
}

/** Sends a message, and gives what comes back: the answer of the handler, or the exception. */
async function send(socket: Socket, message: string, data?: string): Promise<unknown> {
  return new Promise((resolve) => {
    socket.once('exception', resolve);
    socket.emit(message, data, (answer: unknown) => {
      socket.off('exception', resolve);
      resolve(answer);
    });
  });
}

test('each message is counted, and a denied one is answered with a WsException', async () => {
  const connect = await gateway();
  const socket = connect();
  expect(await send(socket, 'say', 'hello')).toBe('said hello');
  expect(await send(socket, 'shout')).toBe('shouted');
  expect(await send(socket, 'say', 'again')).toEqual({
    type: 'https://iana.org/assignments/http-problem-types#quota-exceeded',
    title: 'Too many requests',
    status: 429,
    detail: 'Rate limit "PerClient" exceeded. Try again in 15 seconds.',
    'violated-policies': ['PerClient'],
    retryAfterSeconds: 15,
  });
});

test('messages of several connections of one client are counted together, behind a trusted proxy by its address', async () => {
  const connect = await gateway();
  const from = (address: string): Socket => connect({ 'x-forwarded-for': address });
  expect(await send(from('203.0.113.7'), 'shout')).toBe('shouted');
  expect(await send(from('203.0.113.7'), 'shout')).toMatchObject({ status: 429 });
  expect(await send(from('203.0.113.8'), 'shout')).toBe('shouted');
});

test('a concurrency limit is an error for a message, which has no end, and the message is not handled', async () => {
  const connect = await gateway();
  expect(await send(connect(), 'work')).toMatchObject({ status: 'error', message: 'Internal server error' });
});

/** Connects a client of `ws`, and returns what sends text messages to it, and what it has sent. */
async function plainClient(
  port: number,
): Promise<{ readonly say: (text: string) => void; readonly received: string[] }> {
  const fields = { Connection: 'Upgrade', Upgrade: 'websocket', 'Sec-WebSocket-Version': '13' };
  const request = get({
    host: '127.0.0.1',
    port,
    headers: { ...fields, 'Sec-WebSocket-Key': 'AAAAAAAAAAAAAAAAAAAAAA==' },
  });
  const [, socket] = (await once(request, 'upgrade')) as [unknown, Duplex];
  onTestFinished(() => void socket.destroy());
  const received: string[] = [];
  let unread = Buffer.alloc(0);
  socket.on('data', (bytes: Buffer) => {
    unread = Buffer.concat([unread, bytes]);
    for (let frame = frameIn(unread); frame !== undefined; frame = frameIn(unread)) {
      received.push(unread.toString('utf8', frame.start, frame.end));
      unread = unread.subarray(frame.end);
    }
  });
  // A client's frame of RFC 6455 with less than 126 bytes: a byte for text, one for the length, the mask.
  const say = (text: string): void =>
    void socket.write(Buffer.from([0x81, 0x80 | text.length, 0, 0, 0, 0, ...Buffer.from(text)]));
  return { say, received };
}

/** Where the text of the first frame of a server is; undefined until all of it has arrived. */
function frameIn(bytes: Buffer): { readonly start: number; readonly end: number } | undefined {
  if (bytes.length < 2) return undefined;
  // A second byte of 126 stands for a length in the two bytes after it.
  const isLong = bytes[1] === 126;
  const start = isLong ? 4 : 2;
  if (bytes.length < start) return undefined;
  const end = start + (isLong ? bytes.readUInt16BE(2) : bytes[1]!);
  return bytes.length < end ? undefined : { start, end };
}

test('on ws, messages of a connection are counted by its address, and a denied one is not handled', async () => {
  const { say, received } = await plainClient(await served((app) => new WsAdapter(app)));
  for (const event of ['shout', 'shout', 'free']) say(JSON.stringify({ event }));
  await expect.poll(() => received).toContain('"free"');
  // Nest 12 sends the exception to a client of ws; Nest 11 does not.
  const exceptions = received.filter((text) => text.includes('"exception"'));
  expect(received.filter((text) => !exceptions.includes(text))).toEqual(['"shouted"', '"free"']);
  for (const exception of exceptions) expect(exception).toContain('"status":429');
});
