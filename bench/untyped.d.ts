// What the peers keep behind their middleware: their packages have no types for it.
declare module '@fastify/rate-limit/store/LocalStore.js' {
  export default class LocalStore {
    constructor(continueExceeding: boolean, exponentialBackoff: boolean, cache: number);
    incr(
      id: string,
      callback: (error: Error | null, result: { current: number; ttl: number }) => void,
      timeWindowMs: number,
      max: number,
    ): void;
  }
}

declare module '@fastify/rate-limit/store/RedisStore.js' {
  export default class RedisStore {
    constructor(continueExceeding: boolean, exponentialBackoff: boolean, redis: import('ioredis').Redis);
    incr(
      id: string,
      callback: (error: Error | null, result: { current: number; ttl: number } | null) => void,
      timeWindowMs: number,
      max: number,
    ): void;
  }
}

declare module 'koa-ratelimit/limiter/redis.js' {
  export default class Limiter {
    constructor(options: { id: string; db: import('ioredis').Redis; max: number; duration: number });
    get(): Promise<{ readonly remaining: number }>;
  }
}

declare module 'koa-ratelimit' {
  export default function ratelimit(options: {
    driver: 'memory';
    db: Map<string, unknown>;
    max: number;
    duration: number;
  }): import('koa').Middleware;
}

declare module 'koa-ratelimit/limiter/memory.js' {
  export interface Window {
    readonly remaining: number;
  }
  export default class Limiter {
    constructor(options: { id: string; db: Map<string, Window>; max: number; duration: number });
    get(): Promise<Window>;
  }
}
