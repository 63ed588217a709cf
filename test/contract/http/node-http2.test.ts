import { exchangeContract } from './contract.ts';
import { nodeFramework } from './node.ts';

exchangeContract(nodeFramework('HTTP/2'));
