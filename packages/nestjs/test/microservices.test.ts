import { Controller } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import {
  ClientProxyFactory,
  MessagePattern,
  RpcException,
  Transport,
  type ClientProxy,
  type MicroserviceOptions,
} from '@nestjs/microservices';
import { accountId, clientNetwork } from '@sluice/core';
import { Limits, microserviceContext, RateLimitModule } from '@sluice/nestjs';
import { createServer, type AddressInfo } from 'node:net';
import { firstValueFrom } from 'rxjs';
import { expect, onTestFinished, test } from 'vitest';
import { GUARD, moduleOf, stillStore } from './app.ts';

@Controller()
class SumsController {
  @MessagePattern('sum')
  sum(numbers: readonly number[]): number {
    return numbers.reduce((sum, number) => sum + number, 0);
  }

  @Limits('PerTenant')
  @MessagePattern('report')
  report(): string {
    return 'reported';
  }
}

/** Starts a microservice over TCP, and connects to it. */
async function connected(): Promise<ClientProxy> {
  const module = moduleOf({
    imports: [
      RateLimitModule.forRoot({
        limiter: {
          limits: {
            PerClient: { key: clientNetwork(), count: 3, period: '1m' },
            PerTenant: {
              key: accountId((context) => context.switchToRpc().getData().tenant ?? null),
              count: 1,
              period: '1h',
            },
          },
          ...stillStore(),
        },
        limits: ['PerClient'],
        contexts: { rpc: microserviceContext(RpcException) },
      }),
    ],
    controllers: [SumsController],
    providers: [GUARD],
  });
  const options = { host: '127.0.0.1', port: await freePort() };
  const app = await NestFactory.createMicroservice<MicroserviceOptions>(module, {
    transport: Transport.TCP,
    options,
    logger: false,
  });
  onTestFinished(() => app.close());
  await app.listen();
  const client = ClientProxyFactory.create({ transport: Transport.TCP, options });
  onTestFinished(() => client.close());
  return client;
}

async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return port;
}

const send = (client: ClientProxy, pattern: string, data: object): Promise<unknown> =>
  firstValueFrom(client.send<unknown>(pattern, data));

test('each message is counted by the address of the connection, and a denied one is answered with an RpcException', async () => {
  const client = await connected();
  expect(await send(client, 'sum', [1, 2])).toBe(3);
  expect(await send(client, 'sum', [])).toBe(0);
  expect(await send(client, 'sum', [7])).toBe(7);
  await expect(send(client, 'sum', [1])).rejects.toEqual({
    type: 'https://iana.org/assignments/http-problem-types#quota-exceeded',
    title: 'Too many requests',
    status: 429,
    detail: 'Rate limit "PerClient" exceeded. Try again in 20 seconds.',
    'violated-policies': ['PerClient'],
    retryAfterSeconds: 20,
  });
});

test('a key reads the message', async () => {
  const client = await connected();
  expect(await send(client, 'report', { tenant: 'acme' })).toBe('reported');
  await expect(send(client, 'report', { tenant: 'acme' })).rejects.toMatchObject({
    'violated-policies': ['PerTenant'],
  });
  expect(await send(client, 'report', { tenant: 'other' })).toBe('reported');
});
