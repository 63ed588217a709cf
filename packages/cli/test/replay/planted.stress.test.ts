import { plantedSuite } from './planted-suite.ts';

plantedSuite(200_000);
