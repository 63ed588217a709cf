import { exchangeContract } from './contract.ts';
import { fastifyFramework } from './fastify.ts';

exchangeContract(fastifyFramework());
