import { redisServer, type RedisServer } from '../servers/redis-server.ts';
import { running } from '../servers/running.ts';
import { tcpProxy, type TcpProxy } from '../servers/tcp-proxy.ts';
import { until } from '../servers/until.ts';

/** Keys that make a server load for a while when it starts. */
const FILLER_KEYS = 1000;

/** A server and the network in front of it, in which a fault happens. */
export class Scene {
  readonly server: RedisServer;
  readonly proxy: TcpProxy;

  constructor(server: RedisServer, proxy: TcpProxy) {
    this.server = server;
    this.proxy = proxy;
  }

  static async open(): Promise<Scene> {
    const server = await redisServer();
    return new Scene(server, await tcpProxy(server));
  }

  /** The key of a bucket, whatever the store's prefix is. */
  async keyOf(bucket: string): Promise<string> {
    let keys: readonly string[] = [];
    // It is gone while it is full: no request came for it for a while.
    await until(`there is one key of ${bucket}`, async () => {
      keys = await this.server.call<string[]>('KEYS', `*${bucket}`);
      return keys.length === 1;
    });
    return keys[0]!;
  }

  /** Kills the server after it has saved, and starts it again so that it loads for about `loadMs`. */
  async restartLoading(loadMs: number): Promise<void> {
    await this.server.call('DEBUG', 'POPULATE', FILLER_KEYS).catch(() => this.#fill());
    await this.server.call('SAVE');
    await this.server.kill();
    const delayMicros = Math.round((loadMs * 1000) / FILLER_KEYS);
    const slowly = ['--key-load-delay', String(delayMicros), '--loading-process-events-interval-bytes', '1024'];
    await this.server.start({ whileLoading: true, args: slowly });
  }

  /** Waits until the server has loaded its data. */
  async loaded(): Promise<void> {
    await until('the server has loaded', async () => {
      const info = await this.server.call<string>('INFO', 'persistence').catch(() => '');
      return info.includes('loading:0');
    });
  }

  async #fill(): Promise<void> {
    const script = 'for i = 1, tonumber(ARGV[1]) do redis.call("SET", "filler:" .. i, i) end';
    await this.server.call('EVAL', script, 0, FILLER_KEYS);
  }

  /** Ends server and network. */
  close(): Promise<void> {
    return running.closeAllBut();
  }
}
