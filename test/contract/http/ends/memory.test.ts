import { memoryStore } from '@sluice/core';
import { endCases } from './cases.ts';

endCases('memory store', async () => memoryStore());
