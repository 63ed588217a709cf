import { exchangeContract } from './contract.ts';
import { nestFramework, onExpress } from './nest.ts';

exchangeContract(nestFramework(onExpress));
