import { plantedSuite } from './planted-suite.ts';

plantedSuite(4000);
