import { describe, expect, it } from 'vitest';
import { Routes, type RouteOptions, type Target } from '../../src/replay/entries/routes.ts';

function routesWith(options: Partial<RouteOptions>): Routes {
  return new Routes({ routes: [], costs: [], only: [], limits: ['Orders', 'Users'], ...options });
}

/** The name of the route of a request line. */
function routeOf(routes: Routes, request: string): string | undefined {
  const bytes = Buffer.from(`"${request}"`);
  return routes.names[routes.ofRequest(bytes, 1, bytes.length - 1).route];
}

/** The target of a request whose method and path are in two places. */
function targetOf(routes: Routes, method: string, path: string): Target {
  const bytes = Buffer.from(`${path},${method}`);
  return routes.ofParts(bytes, [path.length + 1, bytes.length], [0, path.length]);
}

describe('Routes', () => {
  it.each([
    ['GET /a?b=1 HTTP/1.1', 'GET /a'],
    ['GET /a', 'GET /a'],
    ['GET https://example.com/a?b HTTP/1.1', 'GET /a'],
    ['GET https://example.com HTTP/1.1', 'GET /'],
    ['GET /users/17/3f2a9c1e0b7d HTTP/1.1', 'GET /users/:id/:id'],
    ['GET /1/2/a/b/c/d/e HTTP/1.1', 'GET /:id/:id/a/b/c/*'],
    ['/only-a-path', '? /only-a-path'],
    ['get /a HTTP/1.1', '? /a'],
    [String.raw`\x16\x03\x01 /`, '? /'],
    ['', '? '],
  ])('groups %s as %s', (request, route) => {
    expect(routeOf(routesWith({}), request)).toBe(route);
  });

  it('uses the first template that matches, and calls everything else other', () => {
    const routes = routesWith({ routes: ['POST /users/:id', '/users/:id', ' get /static/* ', '/'] });
    const names = [
      'POST /users/7',
      'PUT /users/7',
      'GET /users/',
      'GET /static/a/b',
      'GET /static',
      'PUT /static/a',
      'GET /',
    ];
    expect(names.map((request) => routeOf(routes, request))).toEqual([
      'POST /users/:id',
      '/users/:id',
      'other',
      'get /static/*',
      'other',
      'other',
      '/',
    ]);
  });

  it('finds the cost and the limits of a request, the same in the memory of requests as without it', () => {
    const routes = routesWith({
      costs: ['POST /orders=5', '/orders/*=0'],
      only: ['Orders=POST /orders', 'Orders=/orders/:id'],
    });
    for (let again = 0; again < 4; again++) {
      expect(targetOf(routes, 'POST', '/orders?x')).toMatchObject({ cost: 5, applies: [true, true] });
      expect(targetOf(routes, 'GET', '/orders/7')).toMatchObject({ cost: 0, applies: [true, true] });
      expect(targetOf(routes, 'GET', '/orders')).toMatchObject({ cost: 1, applies: [false, true] });
    }
  });

  it('finds the same route of a request line and of its parts, with escapes and of any length', () => {
    const routes = routesWith({});
    const long = `/${'a/'.repeat(30_000)}`;
    expect(targetOf(routes, 'GET', '/a?b')).toBe(targetOf(routes, 'GET', '/a'));
    expect(targetOf(routes, 'GET', String.raw`/\u0061\u003fb`)).toBe(targetOf(routes, 'GET', '/a'));
    expect(routes.names[targetOf(routes, 'GET', long).route]).toBe('GET /a/a/a/a/a/*');
    const none = [-1, -1] as const;
    expect(routes.names[routes.ofParts(Buffer.alloc(0), none, none).route]).toBe(routeOf(routes, ''));
  });

  it('has one target for all requests with the same route, cost and limits', () => {
    const routes = routesWith({ costs: ['/users/7=2'] });
    const [first, second, other] = ['/users/1', '/users/2', '/users/7'].map((path) => targetOf(routes, 'GET', path));
    expect(second).toBe(first);
    expect(other).toEqual({ ...first, cost: 2 });
  });

  it.each([
    { costs: ['/orders=1.5'] },
    { costs: ['=5'] },
    { only: ['/orders'] },
    { only: ['Foo=/orders'], limits: [] },
    { routes: ['GET orders'] },
  ])('rejects %o with an example', (options) => {
    expect(() => routesWith(options)).toThrow(/For example .*\/orders/);
  });
});
