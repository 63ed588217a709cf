import { exchangeContract } from './contract.ts';
import { fetchFramework } from './fetch.ts';

exchangeContract(fetchFramework);
