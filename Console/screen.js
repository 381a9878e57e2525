// What every screen is made of, in one import.

export * from './parts.js';
export * from './api.js';
export * from './address.js';
