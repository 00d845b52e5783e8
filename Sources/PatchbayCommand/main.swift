print("patchbay")
