print("lenticular")
