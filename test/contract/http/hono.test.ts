import { exchangeContract } from './contract.ts';
import { honoFramework } from './hono.ts';

exchangeContract(honoFramework);
