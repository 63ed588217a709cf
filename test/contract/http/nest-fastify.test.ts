import { exchangeContract } from './contract.ts';
import { nestFramework, onFastify } from './nest.ts';

exchangeContract(nestFramework(onFastify));
