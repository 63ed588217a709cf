import Koa from 'koa2';
import { httpContract } from './contract.ts';
import { koaFramework } from './koa.ts';

httpContract(koaFramework('Koa 2', Koa as never, 'HTTP/2'));
