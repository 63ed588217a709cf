import { plantedSuite } from './planted-suite.ts';
import { sized } from '../../../../test/sized.ts';

// SLUICE_PLANTED_CLIENTS=200000 is the full size, which takes a minute.
plantedSuite(Number(process.env['SLUICE_PLANTED_CLIENTS'] ?? sized(1500, 4000)));
