import Koa from 'koa3';
import { exchangeContract } from './contract.ts';
import { koaFramework } from './koa.ts';

exchangeContract(koaFramework('Koa 3', Koa));
