import { mount } from "svelte";
import App from "./App.svelte";
import { language } from "./lib/texts/language.svelte";
import "./styles/fonts.css";
import "./styles/tokens.css";
import "./styles/base.css";
import "./styles/forms.css";

const place = document.getElementById("app");
void language.start().then(() => place && mount(App, { target: place }));
