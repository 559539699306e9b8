/** Markup as tagged templates: htm makes the elements of preact of it, and escapes all values. */
import htm from 'htm';
import { h, type VNode } from 'preact';

export const html = htm.bind(h) as (strings: TemplateStringsArray, ...values: unknown[]) => VNode;
