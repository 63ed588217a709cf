import { exchangeContract } from './contract.ts';
import { fastifyFramework } from './fastify.ts';

exchangeContract(fastifyFramework('HTTP/2'));
