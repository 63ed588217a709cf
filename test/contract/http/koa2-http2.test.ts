import Koa from 'koa2';
import { exchangeContract } from './contract.ts';
import { koaFramework } from './koa.ts';

exchangeContract(koaFramework('Koa 2', Koa as never, 'HTTP/2'));
