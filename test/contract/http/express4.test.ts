import express from 'express4';
import { httpContract } from './contract.ts';
import { expressFramework } from './express.ts';

httpContract(expressFramework('Express 4', express as never));
