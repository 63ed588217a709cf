// The recipe of docs/recipes.md, with what its test needs beside it: a shard that can be ended, as the platform does.
import worker, { Buckets as Recipe, limiter } from '../durable-object.mjs';

export class Buckets extends Recipe {
  end() {
    this.ctx.abort('the platform has moved this object');
  }
}

export default {
  async fetch(request, env, context) {
    const { pathname, searchParams } = new URL(request.url);
    if (pathname === '/end') {
      const stubs = Array.from({ length: 16 }, (_, i) => env.BUCKETS.getByName(`shard-${i}`));
      await Promise.allSettled(stubs.map((stub) => stub.end()));
      return new Response('ended');
    }
    if (pathname === '/two-ids') {
      const spent = Promise.resolve(
        limiter.spend([
          { limit: 'Requests', id: searchParams.get('a') },
          { limit: 'Daily', id: searchParams.get('b') },
        ]),
      );
      return new Response(
        await spent.then(
          ({ outcome }) => outcome,
          ({ code }) => code,
        ),
      );
    }
    return worker.fetch(request, env, context);
  },
};
