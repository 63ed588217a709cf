// The rate limits of the auth router of the MCP SDK, as its options are documented, with smaller numbers.
import type { OAuthServerProvider } from '@modelcontextprotocol/sdk/server/auth/provider.js';
import type { TokenHandlerOptions } from '@modelcontextprotocol/sdk/server/auth/handlers/token.js';
import express from 'express';
import { listening } from '../../../redis/http.ts';
import { EXPRESS_IN_MEMORY, type ExpressStores } from './express-rate-limit.ts';
import { peer } from './peers.ts';
import { answerOfResponse, inTurn, type Answer, type Usage } from './usage.ts';

type Library = typeof import('@modelcontextprotocol/sdk/server/auth/router.js');

interface Used {
  readonly name: string;
  /** The options of each route, less the store. */
  readonly numbers: { readonly windowMs: number; readonly max?: number };
}

const USED: readonly Used[] = [
  { name: 'numbers of its own for each route', numbers: { windowMs: 15 * 60 * 1000, max: 3 } },
  { name: 'a window of its own, and the default number', numbers: { windowMs: 24 * 60 * 60 * 1000 } },
];

/** The routes, and their default numbers. */
const ROUTES = {
  authorizationOptions: { path: '/authorize', most: 100 },
  tokenOptions: { path: '/token', most: 50 },
  clientRegistrationOptions: { path: '/register', most: 20 },
  revocationOptions: { path: '/revoke', most: 50 },
};

const PAGE = 'http://localhost:3000';
// The routes are limited before they look at the request, which has no client.
const provider = {
  clientsStore: { getClient: () => undefined, registerClient: (client: object) => client },
  revokeToken: () => Promise.resolve(),
} as unknown as OAuthServerProvider;

export function mcpUsages(stores: ExpressStores = EXPRESS_IN_MEMORY): readonly Usage[] {
  return USED.map(({ name, numbers }) => ({
    name,
    async answers(isOurs) {
      const { mcpAuthRouter } = (await peer('@modelcontextprotocol/sdk/server/auth/router.js')) as Library;
      const limited = (): Pick<TokenHandlerOptions, 'rateLimit'> => {
        const store = isOurs ? stores.ours() : stores.own();
        return { rateLimit: { ...numbers, ...(store && { store }) } };
      };
      const options = Object.fromEntries(Object.keys(ROUTES).map((route) => [route, limited()]));
      const app = express().use(mcpAuthRouter({ provider, issuerUrl: new URL(PAGE), ...options }));
      const asks = await Promise.all(
        Object.values(ROUTES).map(async ({ path, most }) => {
          const ask = await listening(app, path, { method: 'POST' });
          return Array<() => Promise<Answer>>((numbers.max ?? most) + 1).fill(async () =>
            answerOfResponse(await ask()),
          );
        }),
      );
      return inTurn(asks.flat());
    },
  }));
}
