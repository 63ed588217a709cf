import type { Decision, Result } from '@sluice/core';
import express, { type RequestHandler } from 'express';
import { SignJWT } from 'jose';
import { expect, it } from 'vitest';
import { limitByPlan as limitVisitorsAndAccounts } from '../code/recipes/anonymous-free-paid.ts';
import { limitByPlan as limitByStoredPlan } from '../code/recipes/plans-by-database.ts';
import { limitByPlan, verifyToken } from './plans-by-jwt.ts';
import { limitTenants } from './tenants.ts';
import { serve } from '../serve.ts';

const hello: RequestHandler = (_req, res) => void res.send('hello');
const secret = new TextEncoder().encode('a secret of at least 32 characters');

it('plans by JWT: the plan in a verified token gives the numbers, any other plan those of the limit', async () => {
  const url = await serve(express().use(verifyToken(secret), limitByPlan, hello));
  const policyOf = async (plan: string) =>
    (await fetch(url, { headers: await bearer({ sub: plan, plan }) })).headers.get('RateLimit-Policy');
  expect(await policyOf('pro')).toBe('"RequestsPerAccount";q=100;w=10, "RequestsPerClient";q=1000;w=60');
  expect(await policyOf('team')).toMatch(/q=500;/);
  expect(await policyOf('none')).toMatch(/q=60;/);
});

it('plans by JWT: a request without a valid token is rejected and takes nothing', async () => {
  const url = await serve(express().use(verifyToken(secret), limitByPlan, hello));
  const forged = await bearer({ sub: '7', plan: 'pro' }, new TextEncoder().encode('another secret of 32 characters.'));
  expect((await fetch(url)).status).toBe(401);
  expect((await fetch(url, { headers: forged })).status).toBe(401);
  const first = await fetch(url, { headers: await bearer({ sub: '7' }) });
  expect(first.headers.get('RateLimit')).toMatch(/r=59;/);
});

it('anonymous, free, paid: visitors are limited by their address, accounts by their plan alone', async () => {
  const authenticate: RequestHandler = (req, _res, next) => {
    const [id, plan] = req.get('Authorization')?.split(' ') ?? [];
    if (id !== undefined) Object.assign(req, { account: { id, plan } });
    next();
  };
  const url = await serve(express().use(authenticate, limitVisitorsAndAccounts, hello));
  const get = async (authorization?: string) =>
    fetch(url, authorization === undefined ? {} : { headers: { Authorization: authorization } });
  const visits = await Promise.all(Array.from({ length: 21 }, () => get()));
  expect(visits.filter(({ status }) => status === 429)).toHaveLength(1);
  const policies = await Promise.all(['7 free', '8 paid'].map(async (one) => (await get(one)).headers));
  expect(policies.map((headers) => headers.get('RateLimit-Policy'))).toEqual([
    '"Accounts";q=60;w=60',
    '"Accounts";q=200;w=10',
  ]);
  expect((await get()).status).toBe(429);
});

it('plans by database: one query serves many requests, and a changed plan takes effect after the next query', async () => {
  const queries: string[] = [];
  let count = 600;
  const { middleware, planChanged } = limitByStoredPlan({
    async planOf(account) {
      queries.push(account);
      return account === 'acme' ? { count, period: '1m' } : undefined;
    },
  });
  const authenticate: RequestHandler = (req, _res, next) => {
    Object.assign(req, { account: req.get('Account') });
    next();
  };
  const url = await serve(express().use(authenticate, middleware, hello));
  const policyOf = async (account: string) =>
    (await fetch(url, { headers: { Account: account } })).headers.get('RateLimit-Policy');
  expect(await policyOf('acme')).toMatch(/q=600;/);
  expect(await policyOf('acme')).toMatch(/q=600;/);
  expect(await policyOf('others')).toMatch(/q=60;/);
  expect(queries).toEqual(['acme', 'others']);
  count = 1200;
  expect(await policyOf('acme')).toMatch(/q=600;/);
  planChanged('acme');
  expect(await policyOf('acme')).toMatch(/q=1200;/);
});

it('tenants: a denied user takes nothing from its tenant, and equal names of two tenants are distinct', async () => {
  const authenticate: RequestHandler = (req, _res, next) => {
    const [tenant, user] = req.get('Authorization')?.split('/') ?? [];
    if (tenant !== undefined) Object.assign(req, { auth: { tenant, user } });
    next();
  };
  const url = await serve(express().use(authenticate, limitTenants, (req, res) => void res.json(req.rateLimit)));
  const get = (user: string) => fetch(url, { headers: { Authorization: user } });
  const all = await Promise.all(Array.from({ length: 160 }, () => get('zenith/alice')));
  expect(all.filter(({ status }) => status === 429).length).toBeGreaterThan(90);
  const [ofTenant, ofUser] = await resultsOf(await get('zenith/bob'));
  expect(ofTenant).toMatchObject({ id: 'zenith', allowed: true });
  expect(ofTenant?.remaining).toBeGreaterThan(525);
  expect(ofUser).toMatchObject({ id: 'zenith:bob', remaining: 59 });
  expect((await get('north/alice')).status).toBe(200);
  expect(await resultsOf(await get('acme/alice'))).toMatchObject([{ burst: 6000 }, { burst: 300 }]);
  expect((await fetch(url)).headers.has('RateLimit')).toBe(false);
});

async function resultsOf(response: Response): Promise<readonly Result[]> {
  return ((await response.json()) as Decision).results;
}

async function bearer(claims: Record<string, string>, key = secret): Promise<{ Authorization: string }> {
  return { Authorization: `Bearer ${await new SignJWT(claims).setProtectedHeader({ alg: 'HS256' }).sign(key)}` };
}
