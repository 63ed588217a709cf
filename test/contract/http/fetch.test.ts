import { httpContract } from './contract.ts';
import { fetchFramework } from './fetch.ts';

httpContract(fetchFramework);
