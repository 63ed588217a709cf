import type { DynamicModule, INestApplication, ModuleMetadata, NestApplicationOptions, Type } from '@nestjs/common';
import { Module } from '@nestjs/common';
import { APP_GUARD, NestFactory, type AbstractHttpAdapter } from '@nestjs/core';
import { ExpressAdapter } from '@nestjs/platform-express';
import { FastifyAdapter } from '@nestjs/platform-fastify';
import { memoryStore, type Store } from '@sluice/core';
import { FakeTime } from '@sluice/core/testing';
import { RateLimitGuard } from '@sluice/nestjs';
import type { AddressInfo } from 'node:net';
import { onTestFinished } from 'vitest';

/** The platforms of Nest, by name. */
export const PLATFORMS: readonly (readonly [name: string, adapter: () => AbstractHttpAdapter])[] = [
  ['Express', () => new ExpressAdapter()],
  ['Fastify', () => new FastifyAdapter()],
];

/** The guard of the whole application. */
export const GUARD = { provide: APP_GUARD, useExisting: RateLimitGuard };

/** An application module. */
export function moduleOf(metadata: ModuleMetadata): Type {
  class AppModule {}
  Module(metadata)(AppModule);
  return AppModule;
}

/** A store on a clock that stands still, and its clock. */
export function stillStore(): { readonly store: Store; readonly time: FakeTime } {
  const time = new FakeTime();
  return { store: memoryStore({ time }), time };
}

const QUIET: NestApplicationOptions = { logger: false, abortOnError: false };

/** Makes an application that is closed when the test is over. */
export async function appOf(
  module: Type | DynamicModule,
  adapter: () => AbstractHttpAdapter = PLATFORMS[0]![1],
): Promise<INestApplication> {
  const app = await NestFactory.create(module as Type, adapter(), QUIET);
  onTestFinished(() => app.close());
  return app;
}

/** Sends a request to a path. */
export type Ask = (path?: string, init?: RequestInit) => Promise<Response>;

/** Listens on a free port. */
export async function listening(app: INestApplication): Promise<Ask> {
  await app.listen(0, '127.0.0.1');
  const { port } = app.getHttpServer().address() as AddressInfo;
  return (path = '/', init) => fetch(`http://127.0.0.1:${port}${path}`, init);
}

/** Makes an application, and listens on a free port. */
export async function served(module: Type, adapter?: () => AbstractHttpAdapter): Promise<Ask> {
  return listening(await appOf(module, adapter));
}

/** Asks so many times, one after the other, and gives the statuses. */
export async function statuses(times: number, ask: () => Promise<Response>): Promise<readonly number[]> {
  const all: number[] = [];
  // oxlint-disable-next-line no-await-in-loop -- one after the other
  for (let i = 0; i < times; i++) all.push((await ask()).status);
  return all;
}
