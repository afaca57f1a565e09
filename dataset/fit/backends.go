package fit

import "modeldex/dataset"

type backendKey struct{ place, toolKind, backend int32 }

// count counts a backend for the silicon and, below 0, for its class.
func (l *learnt) count(p *point) {
	l.backends[backendKey{p.silicon, p.toolKind, p.backend}]++
	l.backends[backendKey{-1 - int32(p.class), p.toolKind, p.backend}]++
}

// chooseBackends finds the backend most measurements of a place with a kind of tool used.
func (l *learnt) chooseBackends() {
	l.usual = map[[2]int32]string{}
	most := map[[2]int32]int{}
	for name, number := range l.names[backendName] {
		for key, n := range l.backends {
			at := [2]int32{key.place, key.toolKind}
			if key.backend == number && (n > most[at] || n == most[at] && name < l.usual[at]) {
				most[at], l.usual[at] = n, name
			}
		}
	}
}

// backendOf is the backend most measurements of a piece of hardware with such a tool used, else
// of its class; empty if there is none.
func (l *learnt) backendOf(h *dataset.Hardware, tool dataset.Slug) string {
	silicon, kind := l.names.find(siliconName, l.siliconOf(h.Slug)), l.names.find(toolKindName, toolKindOf(tool))
	if name, ok := l.usual[[2]int32{silicon, kind}]; ok {
		return name
	}
	return l.usual[[2]int32{-1 - int32(classOf(h, "gpu")), kind}]
}
