import { httpContract } from './contract.ts';
import { fastifyFramework } from './fastify.ts';

httpContract(fastifyFramework());
