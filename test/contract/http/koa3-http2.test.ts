import Koa from 'koa3';
import { httpContract } from './contract.ts';
import { koaFramework } from './koa.ts';

httpContract(koaFramework('Koa 3', Koa, 'HTTP/2'));
