import express from 'express4';
import { exchangeContract } from './contract.ts';
import { expressFramework } from './express.ts';

exchangeContract(expressFramework('Express 4', express as never));
