import express from 'express5';
import { httpContract } from './contract.ts';
import { expressFramework } from './express.ts';

httpContract(expressFramework('Express 5', express));
